/** What one dispatch does, counted. */
export interface Steps {
  readonly freezes: number;
  readonly wall: number;
  readonly monotonic: number;
  readonly promises: number;
  readonly rounds: number;
}

export function stepsOf(scenarioId: string, loadKernel: () => Promise<object>): Promise<Steps>;
