"""Reports from records: HTML, figures, LaTeX."""
