"""Words and phrases, as tables, and the small engine that says them."""
