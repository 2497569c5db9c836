import { applyTheme, storedTheme } from './data/theme';

applyTheme(storedTheme());
