"""Tables, figures and contact sheets."""
