import type { Clock } from '../../kernel/index.js';
import { type ClientIntroduction, connectParams } from '../protocol/connect-params.js';
import { type GatewayEvent, type ResponseFrame, refusalOf } from '../protocol/frame.js';
import { type Hello, nonceOf, readHello } from '../protocol/hello.js';

/** The next step of a handshake. */
export type HandshakeStep =
  | { readonly do: 'send'; readonly id: string; readonly params: unknown }
  | { readonly do: 'refuse'; readonly problem: string }
  | { readonly do: 'welcome'; readonly hello: Hello }
  | { readonly do: 'nothing' };

const nothing: HandshakeStep = { do: 'nothing' };

/** How one connection comes about: the gateway challenges, the client answers, the gateway welcomes it or does not. */
export class Handshake {
  readonly #introduction: ClientIntroduction;
  readonly #clock: Clock;
  readonly #id: string;
  #hasAnswered = false;

  /** @param id of the one request that it sends. */
  constructor(introduction: ClientIntroduction, clock: Clock, id: string) {
    this.#introduction = introduction;
    this.#clock = clock;
    this.#id = id;
  }

  event({ event, payload }: GatewayEvent): HandshakeStep {
    if (event !== 'connect.challenge' || this.#hasAnswered) return nothing;
    const nonce = nonceOf(payload);
    if (nonce === undefined) return { do: 'refuse', problem: 'its challenge has no nonce' };
    this.#hasAnswered = true;
    const params = connectParams(this.#introduction, nonce, this.#clock.now());
    return { do: 'send', id: this.#id, params };
  }

  response({ id, ok, payload, error }: ResponseFrame): HandshakeStep {
    if (id !== this.#id || !this.#hasAnswered) return nothing;
    if (!ok) {
      const { code, message } = refusalOf(error);
      return { do: 'refuse', problem: `it refuses this client (${code}: ${message})` };
    }
    const hello = readHello(payload);
    if (hello === undefined) return { do: 'refuse', problem: 'it speaks another protocol' };
    return { do: 'welcome', hello };
  }
}
