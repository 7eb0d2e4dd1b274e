// Asks again and again: every second while answers come, ever more slowly while none do, never in a hidden tab.
const PERIOD_MS = 1000;
const SLOWEST_MS = 15000;

/** The wait before the next attempt, after so many failures in a row: 1, 2, 4, 8, 15, 15 … seconds. */
export const waitAfter = (failures) => Math.min(PERIOD_MS * 2 ** Math.max(failures - 1, 0), SLOWEST_MS);

/**
 * Calls `ask()` over and over, one call at a time. `failed(error, wait)` hears of each failure with the
 * milliseconds until the next attempt.
 */
export class Poller {
  #ask;
  #failed;
  #timer = null;
  #asking = false;
  #again = false;
  #failures = 0;
  paused = false;

  constructor(ask, failed) {
    this.#ask = ask;
    this.#failed = failed;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#stop() : this.now()));
  }

  /** Asks at once, whatever the wait was; right after the call under way, where there is one. */
  now() {
    this.#stop();
    this.#again = this.#asking;
    if (!this.#asking) this.#turn();
  }

  pause(paused) {
    this.paused = paused;
    if (paused) this.#stop();
    else this.now();
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #turn() {
    if (document.hidden || this.paused) return;
    this.#asking = true;
    let wait = PERIOD_MS;
    try {
      await this.#ask();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      wait = waitAfter(this.#failures);
      this.#failed(error, wait);
    }
    this.#asking = false;
    if (this.#again) wait = 0;
    this.#again = false;
    if (!document.hidden && !this.paused) this.#timer = setTimeout(() => this.#turn(), wait);
  }
}
