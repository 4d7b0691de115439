"""The neural network: weights, accumulators, inference, and what the network does not know."""
