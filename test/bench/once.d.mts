/** What a dispatch came to, and what its handlers did. */
export interface Work {
  readonly calls: number;
  readonly chars: number;
  readonly content?: string;
  readonly texts?: readonly string[];
  readonly cancelled?: string;
  readonly topic?: string;
  readonly route?: string;
}

export function runOnce(
  scenarioId: string,
  contenderName: string,
  loadKernel: () => Promise<object>,
): Promise<Work>;
