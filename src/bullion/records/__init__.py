"""The broker's set-up as its desk keeps it: who may change it, where, and the trail of every change."""
