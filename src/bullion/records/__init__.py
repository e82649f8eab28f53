"""The broker's set-up as its desk keeps it: who may change it, the port to it, and the trail of every change."""
