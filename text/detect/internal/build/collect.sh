#!/bin/bash
# collect.sh FOLDER: gathers the texts from which "go run ./text/detect/internal/build" makes the profiles. It needs apt with the
# sources of Debian bookworm, curl, git and unzip. CLONES is the address of the repositories.
set -euo pipefail
clones=${CLONES:-https://github.com}
mkdir -p "$1/deb"
cd "$1"

# Descriptions of packages, translated by the Debian Description Translation Project.
for locale in ca cs da de el eo es eu fi fr gl hr hu id it ja ko nb nl pl pt pt_BR ro ru sk sr sv tr uk vi zh_CN zh_TW; do
	curl -sfO "http://deb.debian.org/debian/dists/bookworm/main/i18n/Translation-$locale.bz2"
done

# Translations of programs and of their help, manual pages and guides, in Debian's packages.
packages=$(apt-cache pkgnames | grep -E '^((libreoffice-l10n|manpages|firefox-esr-l10n|debian-edu-doc|debian-reference|debian-faq|maint-guide)-[a-z]{2,3}(-[a-z]{2})?|wesnoth-1.16-[a-z]+)$' |
	grep -Ev 'manpages-dev|wesnoth.*-(data|music|server|tools)')
(cd deb && apt-get -q download $packages gnome-user-docs evolution-common gnome-control-center-data gnucash-common gramps digikam-data \
	kmymoney-common kdenlive-data skrooge-common freeciv-data tuxpaint-data inkscape gimp-data wordpress-l10n vlc-l10n cinnamon-l10n \
	libvirt-l10n krita-l10n k3b-i18n iso-codes libgtk-3-common tellico-data homebank-data nautilus-data evince-common pidgin-data \
	abiword-common bleachbit claws-mail-i18n gnupg-l10n util-linux-locales libc-l10n kdevelop-l10n marble-data smplayer-l10n \
	installation-guide-amd64)
for deb in deb/*.deb; do
	package=$(basename "$deb" | cut -d_ -f1)
	mkdir -p "$package"
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$package" --wildcards '*.mo' '*.page' '*.html' '*.xpi' '*/man/*' 2>/dev/null || true # few packages have all
done

# Common Voice, TICO-19, the corpora of NLTK with the Universal Declaration of Human Rights, and treebanks.
treebanks="Afrikaans-AfriBooms Azerbaijani-TueCL Belarusian-HSE Chinese-GSD Chinese-GSDSimp Croatian-SET Czech-PUD Danish-DDT
	Dutch-Alpino English-EWT English-PUD Finnish-TDT French-GSD Galician-PUD Galician-TreeGal German-GSD Hindi-PUD Icelandic-Modern
	Icelandic-PUD Indonesian-GSD Indonesian-PUD Irish-IDT Italian-PUD Japanese-GSD Latvian-LVTB Lithuanian-ALKSNIS Macedonian-MTB
	Marathi-UFAL Norwegian-Bokmaal Norwegian-Nynorsk Persian-Seraji Polish-PUD Portuguese-GSD Portuguese-PUD Romanian-RRT Russian-GSD
	Serbian-SET Slovak-SNK Slovenian-SSJ Spanish-GSD Swedish-PUD Swedish-Talbanken Turkish-BOUN Turkish-PUD Ukrainian-ParlaMint
	Vietnamese-VTB Welsh-CCG"
for clone in common-voice/common-voice tico-19/tico-19.github.io nltk/nltk_data $(printf 'UniversalDependencies/UD_%s ' $treebanks); do
	git clone -q --depth 1 "$clones/$clone"
done
for corpus in udhr2 inaugural state_union; do
	unzip -qo "nltk_data/packages/corpora/$corpus.zip"
done
