"""The hedge book of one broker and metal: what clients' deals and covers leave open, and what that earns.

Only pure functions over frozen values. Weights are whole milligrams of fine metal, money is whole paise or
cents, and both are signed from the house's side: a client who buys takes metal from the house and pays it.
"""
