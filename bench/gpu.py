"""Trains a network with PyTorch, on a GPU; bench/learner.py does so on the processor."""

import torch
from learner import DECAY, FADES, LEAST
from nets import MOST_WEIGHT, Batch, Floats, Sizes
from torch.nn import functional

from search.nnue.network import ZONE_INPUTS


class Learner:
    """That of bench/learner.py, on a device."""

    def __init__(self, sizes: Sizes, numbers: Floats, moments: Floats, device: str) -> None:
        """Raises ValueError if the device cannot be used."""
        self.sizes, self._device = sizes, device
        try:
            self._numbers = torch.tensor(numbers, device=device, requires_grad=True)
            self._moments = torch.tensor(moments, device=device)
        except (RuntimeError, AssertionError) as error:  # the latter: PyTorch was built without it
            reason = (str(error).splitlines() or ["it cannot be used"])[0]
            raise ValueError(f"--device {device}: {reason}") from None
        self._optimiser = torch.optim.AdamW([self._numbers], betas=FADES, eps=LEAST, weight_decay=DECAY)
        self._steps = torch.zeros(())
        first, second = self._moments
        self._optimiser.state[self._numbers] = {"step": self._steps, "exp_avg": first, "exp_avg_sq": second}

    @property
    def numbers(self) -> Floats:
        """A copy."""
        found: Floats = self._numbers.detach().cpu().numpy().copy()
        return found

    @property
    def moments(self) -> Floats:
        """A copy."""
        found: Floats = self._moments.cpu().numpy().copy()
        return found

    def learn(self, batch: Batch, rate: float, steps: int) -> float:
        """Take a step, the one after `steps` - 1; returns the mean loss before it."""
        loss = self._loss(batch)
        self._optimiser.zero_grad()
        loss.backward()
        # As _share of bench/learner.py does.
        slopes = self.sizes.parts(self._numbers.grad)[0].reshape(-1, ZONE_INPUTS, self.sizes.hidden)
        slopes += slopes.sum(0)
        self._optimiser.param_groups[0]["lr"] = rate
        self._steps.fill_(steps - 1)
        self._optimiser.step()
        with torch.no_grad():
            *weights, _ = self.sizes.parts(self._numbers)
            for part in weights:
                part.clamp_(-MOST_WEIGHT, MOST_WEIGHT)
            sums = (weights[2].abs().sum(1, keepdim=True) + weights[2].sum(1, keepdim=True).abs()) / 2
            weights[2].mul_((self.sizes.most_sum / sums).clamp(max=1))
        return float(loss.detach())

    def loss(self, batch: Batch) -> float:
        """The mean loss."""
        with torch.no_grad():
            return float(self._loss(batch))

    def _loss(self, batch: Batch) -> torch.Tensor:
        arrays = (torch.from_numpy(array).to(self._device) for array in vars(batch).values())
        own, other, starts, bands, factors, targets, shares = arrays
        inputs, biases, outputs, output_biases = self.sizes.parts(self._numbers)
        sums = [functional.embedding_bag(view, inputs, starts[:-1], mode="sum") for view in (own, other)]
        hidden = torch.cat([(found + biases).clamp(0, 1) ** 2 for found in sums], 1)
        values = functional.linear(hidden, outputs, output_biases).gather(1, bands[:, None].long())[:, 0]
        return torch.mean(shares * (torch.sigmoid(values * factors) - targets) ** 2)
