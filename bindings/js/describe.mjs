// Writes package.json with the version, and with what packaging/project says of the project. What has no value there is left
// out. Usage: node describe.mjs PACKAGE.JSON PROJECT VERSION
import fs from 'node:fs';

const [manifest, project, version] = process.argv.slice(2);
const said = {};
for (const line of fs.readFileSync(project, 'utf8').split('\n')) {
  const field = /^([a-z]+) *= *(.*?) *$/.exec(line);
  if (field && field[2]) said[field[1]] = field[2];
}

const described = JSON.parse(fs.readFileSync(manifest, 'utf8'));
described.version = version;
described.author = said.email ? `${said.author} <${said.email}>` : said.author;
described.keywords = said.keywords.split(/ +/);
if (said.homepage) described.homepage = said.homepage;
if (said.repository) described.repository = { type: 'git', url: said.repository };
process.stdout.write(`${JSON.stringify(described, null, 2)}\n`);
