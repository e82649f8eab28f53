"""What the page is called in addresses."""

PAGE_NAME = "market"
