"""What changed between two photos, and how far pictures are apart, one by one and as crowds."""
