"""The generated parts of the documentation: `make docs` writes them, a test checks that they are current."""
