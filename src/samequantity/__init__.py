"""Does a language model give the same answer when the same quantity is written another way?"""
