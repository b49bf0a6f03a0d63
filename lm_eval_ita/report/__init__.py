"""Reports on results: tables and figures for people."""
