"""The leaderboard: its store of submissions, how they are made and decided on, and the app that shows them."""
