"""Words by which `foreign` tells other languages from English; in small letters, accents as they are written.

The words of a language are its most frequent ones and those that photos are talked about with. A word that is
English as well ("die", "plus", "warm") stands in no list.
"""

from __future__ import annotations

OTHERS = {
    "German": """mach mache machen macht bitte bild bilder bildes foto fotos heller helle helligkeit
        dunkler dunkel dunkle zu sehr etwas bisschen viel mehr weniger und oder nicht kein keine das der
        ein eine einen einer eines ist sind sein soll sollte kann kannst könntest du ich mir wir es auf
        aus für vom zum bei nur noch auch kontrast farbe farben farbig kräftiger kräftige sättigung wärmer
        wärmere wärme kälter kühler schärfer schärfe scharf unscharf weicher entferne entfernen erhöhe
        erhöhen verringern verringere reduziere senke schwarz weiß schwarzweiß gelb gelbstich blau blauer
        grün grell hintergrund schneide zuschneiden drehe aufhellen abdunkeln schatten himmel haut gesicht
        verbessere verbessern belichtung weißabgleich dieses diese besser schöner leuchtender lebendiger
        lebhafter natürlicher augen zähne entwickle reduzieren wirkt aussehen füge hinzu hinzufügen
        korrigiere korrigieren korrektur begradige begradigen horizont rauschen bildrauschen farbstich
        farbton töne tonwerte tiefen lichter himmels meer nacht abend sommer winterlich stimmung
        dramatischer natürlich blass blasser knalliger alte altes stärker schwächer leichter weich glatter
        glätte leute hund haus wasser ganze ganzen überall lasse gebe nimm ersetze unterbelichtet
        überbelichtet aufnahme ausschnitt beschneiden filmlook graustufen lebendig strahlender nichts raus
        klarer verstärken verstärke gern gerne hätte wegmachen sonnenuntergang dynamik freundlicher sieht
        zeigt diesem""",
    "French": """du une moins très trop peu avec dans cette cet rends rendre fais faire mettre ajoute
        ajouter augmente augmenter diminue diminuer réduis réduire baisse enlève enlever supprime
        supprimer éclaircir éclaircis assombrir assombris lumineux lumineuse luminosité lumière lumières
        clair claires foncé couleur couleurs contraste contrasté saturé chaud chaude chaudes chaleur froid
        froide nette netteté flou floue blanc blancs jaune bleu vert ombres ciel peau arrière recadre
        recadrer améliore améliorer vifs vives plaît veux voudrais peux je vous qui que mieux doux douce
        filtre chaleureuse chaleureux naturel adoucir adoucis contrastée corrige corriger redresse
        redresser bruit teinte effet vieux vieille ancien naturelle dramatique doucement beaucoup
        légèrement assez ciels mer nuit soir été hiver personne personnes homme femme enfant chien voiture
        maison eau yeux dents cheveux objet texte faible terne surexposée sousexposée exposé remplace
        donne donner garde éclat profondeur froides rendu rien voit voir nous nos leur comme bien toute
        toutes tout aussi encore automne boutons""",
    "Spanish": """más mas menos muy mucho poco por una para que está esta este esto es hazlo hazla ponle
        ponla quita quitar elimina eliminar aumenta aumentar sube subir bajar agrega añade brillo
        brillante brillantes claro aclara aclarar oscuro oscura oscurece luz sombras colores contraste
        saturación nitidez nítido nítida enfoca cálido cálida cálidos frío fría tono tonos amarillo
        amarilla rojo azul verde blanco fondo imagen cielo piel recorta recortar mejora mejorar mejor
        quiero puedes hacer vivos vivas demasiado exposición izquierda derecha hacia ilumina iluminar ojos
        arregla suaviza bonita tonalidad realza corrige corregir endereza enderezar horizonte ruido efecto
        filtro viñeta calidez ambiente viejo vieja antiguo dramática dramático suavizar mucha ligeramente
        bastante noche tarde verano invierno gente hombre mujer niño niña perro coche agua dientes pelo
        objeto texto fuerte débil apagada apagado pálida subexpuesta sobreexpuesta reemplaza cambia
        parezca profundidad añadir agregar borrosa borroso quítale alegre nada ver toque estilo otoño todo
        toda todos también bien como pero donde nosotros cine""",
    "Italian": """più piu meno molto troppo troppa poco della dello dei delle nel nella sul sulla questa
        questo rendi rendila rendilo rendere fai metti togli togliere rimuovi aumenta aumentare diminuisci
        riduci abbassa aggiungi luminosa luminoso luminosità chiara chiaro schiarisci scura scuro scurisci
        colore colori contrasto saturazione nitida nitido nitidezza calda caldo calde fredda freddo giallo
        gialla rosso bianco nero sfondo viso pelle luci luce ritaglia ruota migliora migliorare vivaci
        vivace favore immagine gli illumina volto occhi toni caldi freddi meglio ammorbidisci correggi
        correggere raddrizza raddrizzare orizzonte esposizione rumore effetto filtro atmosfera vecchia
        vecchio antica drammatica drammatico naturale morbida morbido leggermente abbastanza notte inverno
        persone uomo bambino macchina acqua capelli denti oggetto testo debole spenta spento pallida
        sembra sembri sottoesposta sovraesposta sostituisci cambia senza profondità aggiungere aumenti
        sfocata sfocato liscia niente vede vedere stile autunno tutto tutta tutti anche bene però dove""",
    "Portuguese": """mais muito muita pouco uns das isso deixe deixa deixar faça fazer coloque tira tirar
        remova aumente aumentar diminua diminuir reduza adicione brilho brilhante clareia clarear escuro
        escura escurecer contraste saturação nítido nítida quente quentes frio fria amarelo amarela
        vermelho branco preto imagem fundo céu rosto melhore melhora melhorar você pode quero demais
        ilumine melhor olhos realce realçar suavize corrija corrigir endireite endireitar horizonte
        exposição ruído efeito filtro ambiente velha velho antiga antigo dramática suavizar levemente
        bastante noite tarde verão inverno pessoas homem mulher criança cachorro carro água dentes cabelo
        objeto texto fraca apagada apagado pálida parece substitua mude dê profundidade adicionar embaçada
        ficar fique ficou muitas graça não nada pra estilo outono tudo toda todos também como onde dá ver""",
    "Dutch": """maak het meer minder erg iets beetje graag alsjeblieft aub deze lichter licht donker
        donkerder helder helderder helderheid kleur kleuren verzadiging verhoog verlaag verwijder haal
        eruit scherper scherp scherpte wazig warme warmere kouder koeler geel rood blauw groen zwart
        achtergrond lucht gezicht huid schaduwen belichting verbeter verbeteren bijsnijden niet voor maken
        mooier hemel ogen natuurlijker kun corrigeer rechtzetten ruis filteren sfeer oud oude dramatischer
        natuurlijk zacht zachter veel zee nacht avond zomer mensen vrouw hond huis tanden voorwerp tekst
        sterk sterker zwakker flets bleek onderbelicht overbelicht vervang verander geef zonder diepte
        toevoegen voeg mogen moet zet beeld niets ziet zien alles ook goed maar herfst stijl""",
    "Polish": """się bardzo trochę więcej mniej jaśniej jaśniejsze jaśniejszy rozjaśnij przyciemnij ciemne
        ciemniej ciemniejsze zdjęcie zdjęcia obraz zrób zmień dodaj usuń zwiększ zmniejsz popraw jasność
        kontrastu nasycenie nasycenia kolory kolorów cieplej cieplejsze zimniejsze ostrzej ostrość wyostrz
        żółty żółte czerwony niebieski zielony czarno białe biały czarny proszę tło niebo twarz skóra
        cienie przytnij obróć bardziej ładniejsze lepsze oczy twarzy mocniejsze wyprostuj horyzont
        ekspozycję ekspozycja szum szumu ciepła ciepło efekt filtr nastrój stary naturalne naturalny
        miękkie gładsza lekko morze wieczór lato zima osobę osoby ludzi mężczyznę kobietę dziecko samochód
        woda zęby włosy obiekt tekst mocne słabe wymień zamień daj bez głębi dodać prześwietlone
        niedoświetlone nieostre wygląda nic nie widać wszystko też dobrze jak jesień""",
    "Swedish, Danish, Norwegian": """gör gør gjør bilden bildet billedet är för och og inte ikke det ett
        lidt litt mycket meget mindre ljusare lysere mörkare mörk mörkt mørkere mørk mørkt färg färger
        farver farge farger varmare varmere kallare koldere kaldere skarpare skarpere skärpa mättnad
        mætning metning svartvitt svart hvid hvitt takk snälla venligst bakgrund baggrund bakgrunn bort
        fjern öka øk minska förbättra beskär mer rätta räta exponering exponeringen horisonten horisont
        brus effekt stämning gammal naturlig naturligare mjuk mjukare blek natt kväll sommar personen
        människor kvinna hund vatten ögon tänder hår himmel himlen fjerne støy støj stemning gammel
        blødere mykere menneske mennesker kvinne kvinde øyne øjne byt skift giv utan uden uten legg tilføj
        lägg ingenting allt alle också godt som høst höst""",
    "Turkish": """daha çok biraz fotoğraf fotoğrafı resim resmi parlak parlaklığı aydınlat karanlık karart
        kontrastı artır azalt renk renkler renkleri canlı sıcak soğuk keskin siyah beyaz sarı kırmızı mavi
        yeşil arka lütfen olsun bir için kaldır kırp doygunluğu aydınlık yüz güzel pozlamayı pozlama
        düzelt düzeltin gürültüyü gürültü ufku ekle çıkar doğal yumuşak deniz gece insanları kişiyi kadın
        gökyüzü yüzü hiçbir şey iyi gibi""",
    "Czech": """více méně víc fotka fotku fotky obrázek je příliš prosím zesvětli světlejší tmavá tmavší
        ztmav barvy barev sytost teplejší studenější ostřejší zaostři odstraň pozadí černobíle zvyš sniž
        udělej trochu uprav upravit expozici expozice narovnej horizont šum přidej přirozené měkčí nebe
        obličej osobu muže ženu""",
    "Romanian": """mult puțin fă poza imaginea este prea luminoasă luminos luminozitatea întunecată culori
        culorile calde rece saturația șterge""",
    "Hungarian": """legyen több kevesebb kép képet túl sötét sötétebb világosabb fényesebb kontraszt
        színek melegebb hidegebb élesebb kérlek nem egy háttér fekete fehér""",
    "Finnish": """kuva kuvasta kuvan kirkkaampi kirkkaammaksi tummempi tumma vaaleampi lisää vähemmän
        kontrastia liian värit värejä lämpimämpi kylmempi terävämpi mustavalkoinen poista tausta kiitos""",
    "Indonesian": """buat lebih terang gelap cerah kontras tambahkan tambah kurangi warna hangat dingin
        tajam terlalu fotonya gambar hapus latar hitam putih sedikit tolong""",
    "Vietnamese": "làm sáng hơn tối ảnh màu độ tăng giảm tương phản quá nhiều",
    "Croatian, Serbian": """više manje sliku fotografiju svjetlije svetlije posvijetli tamnije boje
        toplije hladnije molim oštrije ukloni kontrasta""",
    "Catalan": "més menys massa brillant fosca lluminosa",
    "Slovak": "viac menej zosvetli tmavšie farby prosím",
}
"""Language -> words."""

SHARED = """plus sombre noir rouge visage la le les un de en des et est el los las del cara il lo di che
    con mit von wat te op na za se ne si non"""
"""Frequent words of theirs that English, or names in English, use as well."""

ENGLISH_UNACCENTED = "expose hatter plait putin sature starker warmer weiss"
"""What some of them become without their accents: words or names of English."""

ELISIONS = "l d j qu dell nell sull dall quell"
"""What stands before an apostrophe in French and Italian."""

ENGLISH = """the and it its this that these those are was been being make makes making made more less much
    very too please can could would should you your my we they them her his she he him have has need want
    like look looks with without of from not but just some all any out off down up into than then when
    where what if there here does did don't doesn't isn't it's i'm i'd i'll give get take keep put let
    bring turn little bit lot slightly bright brighter brighten brightness dark darker darken darkness
    light lighter lighten lighting lights colour colours color colors colorful sharp sharper sharpen
    sharpness cool cooler warmth saturate saturated vibrant vibrance vivid exposure exposed increase
    decrease reduce enhance improve add remove boost lower raise adjust change fix crop rotate blur blurry
    background face sky picture pic white black blue red green yellow edit better shadows highlights clear
    clearer clarity hue tint whole overall only back left right someone anyone somebody everything entire
    simulate thanks thank help behind photoshop two shirt possible over significantly desired needs clean
    zoom hand foreground see away except visible middle dog also rid lady orange bottom shadow touch use
    pink delete guys quality front around about head top focus skin purple an stand couple correct amount
    gray grey looking other advance removed corner turned really standing colorize appears grass hair well
    old our details moderately friend center took cut appreciated sun replace far request eyes taken faces
    love leave sitting frame great will maybe wedding able baby professional tree wall ground quite slight
    subject greatly last way appear appreciate until first show family nice best completely leaving good
    instead wearing window flip brightened beach object detail holding between next dull washed how got
    even part shot night time create photos both soften write text says say word words caption straighten
    swap erase people woman girl guy boy kid warm warmer tone tones level mood feel vibe style"""
"""Words that speak for English, though a request in another language may hold one."""
