"""The desk's console: pages for people, the third face of the desk's actions."""
