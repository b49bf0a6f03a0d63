"""Results as pages and documents for people."""
