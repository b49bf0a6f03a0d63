"""Reports from records: a page, figures, LaTeX tables."""
