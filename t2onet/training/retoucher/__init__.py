"""The shipped network's lessons: to do what was said (literal), and what a retoucher did (expert)."""
