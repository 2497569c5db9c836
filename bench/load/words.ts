const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** New random words, so that nothing repeats and nothing compresses well. */
export function randomWords(bytes: number): string {
  let text = '';
  while (text.length < bytes) {
    for (let letter = 0; letter < 7; letter++) text += letters[Math.floor(Math.random() * letters.length)];
    text += ' ';
  }
  return text.slice(0, bytes);
}
