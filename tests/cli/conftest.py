from tests.results.conftest import sample_run  # noqa: F401  # the same run for both folders
