"""The rules of the language's operators: every implicit promotion, conversion and broadcast is made here."""
