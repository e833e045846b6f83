import type { AgentProvider, ToolDefinition } from '@sluice/sdk/stream';
import { toolProblem } from '@sluice/sdk/stream/internal';
import type { Logger, PayloadOf, Principal } from 'sluice-kernel';

declare module '@sluice/sdk/extension' {
  interface Provisions {
    /** Agents may call it, if their providers take tools. */
    tool: ToolDefinition;
  }
}

/** The turn that tools are for. */
export interface ToolTurn {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  /** The message that the turn answers. */
  readonly message: PayloadOf<'routing.resolving'>['message'];
  /** The sender of the message, if its channel has proven who it is. */
  readonly principal: Principal | undefined;
}

/** An extension or a plugin that gives tools. */
export interface ToolSource {
  /** Its id. */
  readonly owner: string;
  /** Gives its tools for a turn. Never throws. */
  toolsFor(turn: ToolTurn): readonly ToolDefinition[];
}

/** The tools that plugins and extensions give to agents (event pipeline §16.23). */
export class Tools {
  readonly #sources: ToolSource[];
  readonly #logger: Logger;
  readonly #told = new Set<string>();
  /** The problems of tools that were judged; empty if a tool has none. One that is the same each turn is judged once. */
  readonly #judged = new WeakMap<object, string>();

  /** @param sources those of the plugins: they come before the extensions. */
  constructor(logger: Logger, sources: readonly ToolSource[]) {
    this.#logger = logger;
    this.#sources = [...sources];
  }

  /** Adds a source. @returns the function that takes it back. */
  add(source: ToolSource): () => void {
    this.#sources.push(source);
    return () => void this.#sources.splice(this.#sources.indexOf(source), 1);
  }

  /** The tools for a turn of an agent whose provider takes tools. A tool that cannot be given is left out, and the log says so once. */
  for({ id, ownTools = [] }: AgentProvider, turn: ToolTurn): readonly ToolDefinition[] {
    const owners = new Map(ownTools.map((name) => [name.toLowerCase(), `the agent "${id}"`]));
    return this.#sources.flatMap((source) =>
      source.toolsFor(turn).filter((tool) => {
        const { owner } = source;
        const key = String(Object(tool).name).toLowerCase();
        const first = owners.get(key);
        const taken = first === undefined ? undefined : `${first} has a tool of that name`;
        const problem = this.#problemOf(tool) ?? taken;
        if (problem === undefined) owners.set(key, `"${owner}"`);
        else this.#leftOut(owner, key, problem);
        return problem === undefined;
      }),
    );
  }

  #problemOf(tool: ToolDefinition): string | undefined {
    const known = this.#judged.get(tool);
    if (known !== undefined) return known === '' ? undefined : known;
    const problem = toolProblem(tool);
    if (Object(tool) === tool) this.#judged.set(tool, problem ?? ''); // it comes from outside
    return problem;
  }

  #leftOut(owner: string, tool: string, problem: string): void {
    const key = JSON.stringify([owner, tool, problem]);
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#logger.error('a tool is left out', { extensionId: owner, tool, problem });
  }
}
