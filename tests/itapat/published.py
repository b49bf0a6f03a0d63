"""Facts printed in the papers that the word lists must follow."""

# P-AT (EMNLP Findings 2023), tests 3 and 4.
AFRICAN_NAMES_3 = (
    "Deion Wardell Tyrone Leroy Alonzo Jasmine Lionel Tyree Tia Shaniqua Darnell Malika Shereen Tanisha Ebony Yolanda "
    "Alphonse Latisha Jerome Terrence Lakisha Lamont Marcellus Latoya Malik Jamel Lamar Torrance Nichelle Lavon Yvette Theo"
).split()
AFRICAN_NAMES_4 = (
    "Latoya Kenya Hakim Aisha Jamal Tyrone Leroy Tanisha Ebony Tamika Keisha Jermaine Darnell Kareem Lakisha Rasheed"
).split()

# ISTAT 2022, the most given names (ItaP-AT, Table 3).
ISTAT_BOYS = (
    "Leonardo Francesco Tommaso Edoardo Alessandro Lorenzo Mattia Gabriele Riccardo Andrea Diego Nicolò Matteo Giuseppe "
    "Federico Antonio Enea Samuele Giovanni Pietro Filippo Davide Giulio Gioele Christian Michele Gabriel Luca Marco Elia"
).split()
ISTAT_GIRLS = (
    "Sofia Aurora Giulia Ginevra Vittoria Beatrice Alice Ludovica Emma Matilde Anna Camilla Chiara Giorgia Bianca Nicole "
    "Greta Gaia Martina Azzurra Arianna Sara Noemi Isabel Rebecca Chloe Adele Mia Elena Diana"
).split()

# |X| = |Y| of each test (ItaP-AT, "Tests").
SET_SIZES = {
    "base_1": 25, "base_2": 25, "base_3": 32, "base_3b": 15, "base_4": 16, "base_6": 8, "base_7": 8, "base_8": 8, "base_9": 6,
    "base_10": 8, "race_3": 32, "race_4": 16, "gender_6": 8, "gender_7": 8, "gender_8": 8, "age_10": 8,
}  # fmt: skip
