SELECT version FROM rates WHERE one = 1
