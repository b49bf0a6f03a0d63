"""One module for each page: what its template shows, as plain texts."""
