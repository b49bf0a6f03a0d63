"""TweetyIta: a model adapted to Italian by swapping its tokenizer, building embeddings from aligned text, and training
on.

Sources: *ItaEval and TweetyIta* (CLiC-it 2024); Remy et al., *Trans-Tokenization and Cross-lingual Vocabulary
Transfers* (COLM 2024). Each step is a module: `train_tokenizer`, `mapping`, `convert`, `adapt`, `report`; `lm-eval-ita
tweety` calls them.
"""
