import { notShown, stepsOf } from '../../support/document-steps';

it.each<[string, string, string, string | undefined]>([
  ['finds lines in their order', 'a\nc', 'a\nb\nc\n', undefined],
  ['takes … for any text of one line', 'at … o’clock\n…: done', 'at 9 o’clock\nbooking: done', undefined],
  ['misses a line that is not there', 'a\nd', 'a\nb\n', 'd'],
  ['misses a line that came before another one', 'b\na', 'a\nb\n', 'a'],
  ['misses a line that is only part of another one', 'booked', 'not booked', 'booked'],
  ['does not take … for several lines', 'a … c', 'a b\nb c', 'a … c'],
  ['takes marks of patterns as they are', 'a.c (1)', 'abc (1)', 'a.c (1)'],
])('what a tutorial says that a terminal shows %s', (_, expected, output, missing) => {
  expect(notShown(expected, output)).toBe(missing);
});

describe('the tutorial', () => {
  const steps = stepsOf('docs/tutorial.md').flatMap((section) => section.steps);

  it('writes each file once, and runs each test that it writes', () => {
    const files = steps.flatMap((step) => (step.kind === 'file' ? [step.name] : []));
    expect(files).toEqual([...new Set(files)]);
    const commands = steps.flatMap((step) => (step.kind === 'commands' ? [step.text] : [])).join('');
    const tests = files.filter((file) => file.endsWith('.test.ts'));
    expect(tests.filter((file) => !commands.includes(file))).toEqual([]);
    expect(tests.length).toBeGreaterThan(1);
  });

  it('kills its process, and starts it again', () => {
    const typed = steps.flatMap((step) => (step.kind === 'commands' ? [step] : []));
    const kill = typed.findIndex(({ text }) => text.startsWith('kill -9'));
    expect(typed[kill + 1]).toMatchObject({ terminal: 'terminal-1', text: 'npx holdfast dev\n' });
  });
});
