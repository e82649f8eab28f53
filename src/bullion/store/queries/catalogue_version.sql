SELECT version FROM catalogue WHERE one = 1
