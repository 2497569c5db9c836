import { anchorOf, headingsOf, plainText, sentencesOf, withoutCode, wordsOf } from '../../support/markdown';

describe('reading Markdown', () => {
  it('takes the sentences of a paragraph over its lines', () => {
    expect(sentencesOf('One sentence\nover two lines. Another one! A third?')).toEqual([
      'One sentence over two lines.',
      'Another one!',
      'A third?',
    ]);
  });

  it('takes each item of a list and each quote for itself', () => {
    expect(sentencesOf('- one\n  goes on\n- two\n1. three\n\n> four')).toEqual(['one goes on', 'two', 'three', 'four']);
  });

  it('leaves headings, tables, comments and blocks of code out', () => {
    const page = '# Title\n\n| a | b |\n| - | - |\n\n```ts\nconst text = "# no heading. No sentence.";\n```\n\n<!-- a note -->\n\nText.';
    expect(sentencesOf(page)).toEqual(['Text.']);
    expect(headingsOf(page)).toEqual([{ level: 1, text: 'Title' }]);
  });

  it('leaves a block of code in a list out, and keeps the lines where they were', () => {
    const page = '- one\n\n  ```sh\n  behind\n  ```\n\n- two';
    expect(sentencesOf(page)).toEqual(['one', 'two']);
    expect(withoutCode(page).split('\n')).toHaveLength(page.split('\n').length);
  });

  it('ends a sentence at a colon only where another sentence follows', () => {
    expect(sentencesOf('It takes three: one, two, three.')).toEqual(['It takes three: one, two, three.']);
    expect(sentencesOf('**Why:** It is shorter.')).toEqual(['**Why:**', 'It is shorter.']);
    expect(sentencesOf('There are two: `a` and `b`.')).toEqual(['There are two:', 'code and code.']);
  });

  it('ends no sentence at an abbreviation or a version', () => {
    expect(sentencesOf('Use a name, e.g. yours. It needs 1.24 or newer.')).toEqual(['Use a name, e.g. yours.', 'It needs 1.24 or newer.']);
  });

  it('ends a sentence that is emphasized or in brackets', () => {
    expect(sentencesOf('**It waits.** Then it goes on. (It may.) Yes.')).toEqual([
      '**It waits.**',
      'Then it goes on.',
      '(It may.)',
      'Yes.',
    ]);
  });

  it('counts a span of code as one word, and a link by its text', () => {
    expect(plainText('See `a b c` and [two words](page.md#behind).')).toBe('See code and two words.');
    expect(wordsOf('See code – and two words.')).toBe(5);
  });

  it('makes the anchors of GitHub', () => {
    expect(anchorOf('`npm ci` compiles, once')).toBe('npm-ci-compiles-once');
  });
});
