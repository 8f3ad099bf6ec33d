"""Studies with people, independent of the web: blind ratings of pictures, and requests written for pairs.

Needs the extra `study`.
"""
