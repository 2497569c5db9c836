import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sessionCommands, sessionPicture } from '../../pictures/session-commands';
import { linesOfPicture, terminalPicture } from '../../pictures/terminal-picture';

const root = resolve(__dirname, '..', '..', '..');

describe('the picture of the README', () => {
  const svg = readFileSync(join(root, sessionPicture), 'utf8');
  const lines = linesOfPicture(svg);

  it('is in the README, and shows its commands in their order', () => {
    const typed = lines.flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []));
    expect(typed).toEqual(sessionCommands);
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`](${sessionPicture})`);
  });

  it('shows the approval, the crash, and one payment under the key of the call', () => {
    const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
    const moments = [
      /^Holdfast is ready/,
      /^\? refund needs an approval/,
      /^\$ kill -9/,
      /^✓ .* answered by ada/,
      /^→ refund/,
      /"reference":/,
    ];
    const seen = moments.map(at);
    expect(seen).not.toContain(-1);
    expect(seen).toEqual([...seen].sort((one, other) => one - other));
    expect(lines.filter((line) => line.startsWith('→ refund'))).toHaveLength(1);
  });

  it('takes nothing from elsewhere, and has a background of its own', () => {
    const [, own = ''] = svg.split('xmlns="http://www.w3.org/2000/svg"');
    expect(own).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)|@font-face|@import|<style|<image|href=/);
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
    expect(svg).toContain(`<rect width="${width}" height="${height}"`);
  });

  it('keeps its blanks in every browser', () => {
    expect(svg).not.toContain('xml:space');
    expect([...svg.matchAll(/<text [^>]*>(.*?)<\/text>/g)].filter(([, text = '']) => text.includes(' '))).toEqual([]);
    expect(lines).toContain('  console   http://127.0.0.1:4747/');
  });

  it('names no path of a machine', () => {
    expect(lines.filter((line) => /(^|[\s"'(])\/(root|home|Users|work|tmp|var)\//.test(line))).toEqual([]);
  });
});

describe('the picture of a terminal', () => {
  it('breaks long lines as a terminal does, and gives them back whole', () => {
    const long = `→ ${'é<&>'.repeat(60)}`;
    const svg = terminalPicture('A <title>', [
      { command: 'one && two', output: `${long}\n\nend\n` },
      { command: 'quiet', output: '' },
    ]);
    expect(linesOfPicture(svg)).toEqual(['$ one && two', long, 'end', '$ quiet']);
    const rows = [...svg.matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, text = '']) => text.replace(/&\w+;/g, '?').length);
    expect(Math.max(...rows)).toBe(100);
    expect(svg).toContain('<title>A &lt;title&gt;</title>');
  });
});
