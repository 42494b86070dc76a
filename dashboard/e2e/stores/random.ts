// Deterministic pseudo-random numbers: stores are identical on every machine.
import { createHash } from 'node:crypto';

export class Random {
  #state: number;

  constructor(seed: string) {
    this.#state = createHash('sha256').update(seed).digest().readUInt32LE();
  }

  /** From 0 to below 1, by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `low` to `high`, inclusive. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** Normally distributed, by the Box–Muller transform. */
  normal(mean: number, deviation: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return mean + deviation * radius * Math.cos(2 * Math.PI * this.next());
  }

  /** Log-normally distributed with this median, like the latency of agents. */
  logNormal(median: number, spread: number): number {
    return median * Math.exp(this.normal(0, spread));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<Value>(from: readonly [Value, ...Value[]]): Value {
    return from[this.whole(0, from.length - 1)] ?? from[0];
  }
}

/** Hexadecimal digits derived from a name, for IDs, commits and hashes. */
export function digits(name: string, count: number): string {
  return createHash('sha256').update(name).digest('hex').slice(0, count);
}

export function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** Rounds to a realistic precision. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
