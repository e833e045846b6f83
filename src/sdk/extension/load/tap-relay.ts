import { perKernel } from 'sluice-kernel/internal';
import type { Around, ExtensionCall, Fact } from '../define/extension-host.js';

/** Tells facts: the recorder of a host. */
interface FactSource {
  listen(listener: (entry: Fact) => void, whose?: { readonly extensionId: string }): Disposable;
}

interface Hearing {
  readonly listener: (entry: Fact) => void;
  readonly extensionId: string;
  heard?: Disposable | undefined;
}

/** Brings together the taps of extensions and the host of their kernel, whichever comes first. */
export class TapRelay {
  /** The layers around each call, outermost first. */
  layers: readonly Around[] = [];
  readonly #hearings = new Set<Hearing>();
  #source: FactSource | undefined;

  /** Names the source of the facts. */
  from(source: FactSource): void {
    this.#source = source;
    for (const hearing of this.#hearings) this.#hear(hearing);
  }

  hear(extensionId: string, listener: Hearing['listener']): Disposable {
    const hearing: Hearing = { extensionId, listener };
    this.#hearings.add(hearing);
    this.#hear(hearing);
    return {
      [Symbol.dispose]: () => {
        this.#hearings.delete(hearing);
        hearing.heard?.[Symbol.dispose]();
      },
    };
  }

  wrap(around: Around): Disposable {
    const layer: Around = (run, of) => around(run, of); // the same function may come twice
    this.layers = [...this.layers, layer];
    return {
      [Symbol.dispose]: () => {
        this.layers = this.layers.filter((one) => one !== layer);
      },
    };
  }

  /** Runs a call inside of all layers. */
  run<T>(call: () => T, of: ExtensionCall): T {
    return this.layers.reduceRight<() => T>((inner, layer) => () => layer(inner, of), call)();
  }

  #hear(hearing: Hearing): void {
    hearing.heard?.[Symbol.dispose]();
    hearing.heard = this.#source?.listen(hearing.listener, hearing);
  }
}

/** The relay of a kernel. */
export const tapRelayOf = perKernel(() => new TapRelay());
