"""What all pages show in the same way: numbers, times, states, tables, buttons and dialogs."""
