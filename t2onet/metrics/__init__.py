"""What changed between two photos."""
