export interface Described {
  readonly name: string;
  readonly description: string;
}

const selects = 'select:';

/** Best first. `select:a,b` takes tools by name; otherwise words are searched, and words with a plus are required. */
export function findTools<Tool extends Described>(tools: readonly Tool[], query: string, most: number): readonly Tool[] {
  const wanted = query.trim();
  if (wanted === '') throw new Error('The query is empty. Write select:name, or words that say what the tool does.');
  if (wanted.toLowerCase().startsWith(selects)) return selected(tools, wanted.slice(selects.length));
  const words = wanted.toLowerCase().split(/\s+/);
  const required = words.filter((word) => word.length > 1 && word.startsWith('+')).map((word) => word.slice(1));
  const others = words.filter((word) => !word.startsWith('+'));
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, required, others) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ tool }) => tool);
}

function selected<Tool extends Described>(tools: readonly Tool[], names: string): readonly Tool[] {
  const found = names.split(',').flatMap((name) => tools.find((tool) => tool.name === name.trim()) ?? []);
  return [...new Set(found)];
}

function scoreOf(tool: Described, required: readonly string[], others: readonly string[]): number {
  const needed = required.map((word) => scoreOfWord(tool, word));
  if (needed.includes(0)) return 0;
  return [...needed, ...others.map((word) => scoreOfWord(tool, word))].reduce((sum, score) => sum + score, 0);
}

function scoreOfWord({ name, description }: Described, word: string): number {
  const parts = partsOf(name);
  if (parts.includes(word)) return 10;
  if (parts.some((part) => part.includes(word))) return 5;
  if (name.toLowerCase().includes(word)) return 3;
  return description.toLowerCase().includes(word) ? 2 : 0;
}

function partsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== '');
}
