export type ThemeChoice = 'system' | 'light' | 'dark';

const key = 'holdfast.theme';

export function storedTheme(): ThemeChoice {
  const stored = readStored(key);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function applyTheme(choice: ThemeChoice): void {
  if (choice === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = choice;
}

export function storeTheme(choice: ThemeChoice): void {
  writeStored(key, choice);
  applyTheme(choice);
}

export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The browser forbids storage.
  }
}
