"""The grammar of the phrasebook: how words are inflected in English and German."""
