"""Who somebody is and what they may do: accounts, links, tokens, permissions, mail, keys."""
