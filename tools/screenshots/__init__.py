"""Pictures of the console's pages over a market demo with a busy morning's data: both themes, desk and phone.

`python -m tools.screenshots` writes docs/pictures/console-<page>-<width>-<theme>.png, and the page that
shows them.
"""
