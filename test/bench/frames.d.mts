/** One pass over the recorded frames: how many there are, and how much it makes of them. */
export function workOfFrames(
  id: string,
  csdk: object,
): Promise<{ readonly made: number; readonly frames: number }>;
