"""Connects the rooms: the only room that knows which adapter implements which port."""
