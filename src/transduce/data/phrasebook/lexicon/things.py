"""Classes of things: what can be eaten, worn, bought, lost or put on a table."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.nouns import nouns

__all__ = [
    "APPLIANCES",
    "BELONGINGS",
    "BODY_PARTS",
    "CLOTHES",
    "CROCKERY",
    "DISHES",
    "DRINKS",
    "EVENTS",
    "FOOD",
    "FURNITURE",
    "GIFTS",
    "GROCERIES",
    "LYING",
    "PAPERS",
    "READING",
    "ROOMS",
    "SERVINGS",
    "SHOES",
    "SOFT_DRINKS",
    "STANDING",
    "TABLEWARE",
    "VEHICLES",
    "WOMENS_CLOTHES",
]

FOOD = nouns("bread, cheese, rice, meat, fish, ham, yoghurt, chocolate, fruit")
SOFT_DRINKS = nouns("coffee, tea, milk, water, lemonade, apple juice, orange juice")
DRINKS = (*SOFT_DRINKS, *nouns("beer, wine"))
GROCERIES = nouns("apple, banana, orange, pear, tomato, carrot, egg, roll, sausage")
DISHES = nouns("soup, salad, pizza, steak, sandwich, omelette, ice cream")
SERVINGS = nouns(
    "cup of tea, cup of coffee, glass of water, glass of wine, glass of milk, bottle of beer, piece of cake"
)

CLOTHES = nouns("jacket, coat, shirt, hat, jumper, T-shirt, scarf, cap")
"""What anyone wears."""
WOMENS_CLOTHES = nouns("dress, skirt, blouse")
SHOES = nouns("shoes, boots, gloves")
GIFTS = nouns("watch, bag, camera, vase, picture, book, novel, scarf, cap, bicycle")
BELONGINGS = nouns(
    "key, mobile phone, bag, umbrella, camera, watch, passport, wallet, credit card, ticket, suitcase, pen"
)
VEHICLES = nouns("car, bicycle, motorbike")

ROOMS = nouns("kitchen, bathroom, bedroom, living room, cellar, garage, garden")
FURNITURE = nouns("lamp, chair, table, sofa, bed, cupboard, shelf, carpet, mirror, armchair")
APPLIANCES = nouns("television, radio, washing machine, computer, heating")
TABLEWARE = nouns("cup, glass, plate, knife, fork, spoon")

LYING = nouns(
    "key, mobile phone, pen, passport, wallet, credit card, ticket, book, newspaper, magazine, letter, postcard"
)
"""Things that lie (liegen) and are laid (legen)."""
STANDING = nouns("bottle, vase, lamp, radio, bag, suitcase")
"""Things that stand (stehen) and are stood (stellen), on something or beside it."""
CROCKERY = nouns("cup, glass, plate")

READING = nouns("book, newspaper, magazine, novel")
PAPERS = nouns("letter, postcard, email, report")
EVENTS = nouns("concert, course, meeting, exam, party, film")

BODY_PARTS = nouns("head, back, stomach, knee, arm, leg, hand, foot, finger, eyes, ears")
