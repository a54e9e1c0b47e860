"""The rules of the language's operators: promotion, conversion, broadcasting. Every implicit conversion is made here."""
