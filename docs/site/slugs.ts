/** The anchor of a heading, as GitHub names it: one text links to the same anchors in a clone and on the site. */
export function slugifier(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replace(/ /g, '-');
}
